import { readFileSync } from 'node:fs';
import { Document } from '../support/openapi';
import { PLACES } from '../support/tested-places';
import { type Received, verify } from '../support/webhook-receiver';

/** That of the documents' examples. */
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';

describe.each([1, 2])('The message of webhooks in the document of version %i', (version) => {
  const json = JSON.parse(readFileSync(`${PLACES.documents}/openapi.v${version}.json`, 'utf8'));
  const document = new Document(json);
  const { parameters, requestBody, responses, tags } = json.webhooks.change.post;
  const { schema, examples } = requestBody.content['application/json'];

  it('stands in the group of the routes', () => {
    expect(tags).toEqual(json.paths[`/api/v${version}/webhooks`].post.tags);
    expect(Object.keys(responses)).toEqual(['410', '429', '2XX', 'default']);
  });

  it.each(['created', 'updated', 'deleted', 'test'])('has an example that its schema allows: %s', (name) => {
    expect(document.violations(schema, examples[name].value)).toEqual([]);
  });

  it('has a signature that is true, but for its age', () => {
    const headers = Object.fromEntries(
      (parameters as { name: string; example: string }[]).map(({ name, example }) => [name, example]),
    );
    const text = JSON.stringify(examples.updated.value);
    const at = Number(headers['webhook-timestamp']) * 1_000;
    jest.useFakeTimers({ now: at });
    try {
      expect(verify(SECRET, { headers, text } as unknown as Received)).toEqual(examples.updated.value);
    } finally {
      jest.useRealTimers();
    }
  });
});
