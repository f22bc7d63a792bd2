import { readFileSync } from 'node:fs';
import { useTestApi } from '../support/test-api';
import { filled, type FileRequest, requestsIn, variablesIn } from '../support/http-file';

const file = readFileSync('docs/requests.http', 'utf8');
const requests = requestsIn(file);

describe('docs/requests.http', () => {
  const api = useTestApi({ settings: { DEMO_DATA: 'true' } });
  /** What a reader pastes. */
  const pasted: Record<string, string> = {};

  async function send({ method, url, headers, body }: FileRequest): Promise<Response> {
    const variables = { ...variablesIn(file.replace('http://localhost:3000', api.url)), ...pasted };
    const sent = Object.entries(headers).map(([name, value]): [string, string] => [name, filled(value, variables)]);
    return fetch(filled(url, variables), { method, headers: sent, body: body && filled(body, variables) });
  }

  it('has requests of each kind', () => {
    expect(requests.length).toBeGreaterThan(15);
    expect(new Set(requests.map(({ title }) => title)).size).toBe(requests.length);
    expect(new Set(requests.map(({ method }) => method)).size).toBeGreaterThan(5);
  });

  it.each(requests)('answers $status: $title', async (request) => {
    const response = await send(request);
    const text = await response.text();

    expect([response.status, text]).toEqual([request.status, text]);
    if (/^Sign in|^Refresh/.test(request.title)) paste(request.title, JSON.parse(text) as Tokens);
  });

  interface Tokens {
    data: { access_token: string; refresh_token: string };
  }

  function paste(title: string, { data }: Tokens): void {
    if (title.includes('administrator')) return void (pasted.adminToken = data.access_token);
    pasted.token = data.access_token;
    pasted.refreshToken = data.refresh_token;
  }
});
