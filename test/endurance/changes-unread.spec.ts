import { ChangeListeners } from '../../src/platform';
import { expectSuccess, RawConnection, waitFor } from '../../src/platform/testing';
import { EventReader } from '../support/event-reader';
import type { Row } from '../support/fixtures';
import { useTestApi } from '../support/test-api';

describe('A client that never reads its stream of changes', () => {
  const api = useTestApi({ settings: { REQUEST_TIMEOUT: '2000' } });

  it('is ended, keeps no other waiting, and can come back', async () => {
    const admin = await api.admin();
    const listeners = api.app.nest.get(ChangeListeners);
    const client = api.as(admin);
    const headers = { Authorization: `Bearer ${admin.token}` };
    const other = await EventReader.open(`${api.url}/api/v1/changes?types=posts`, headers);
    const connection = await RawConnection.open(api.app.port);
    const head = ['GET /api/v1/changes?types=posts&include=resource HTTP/1.1', 'Host: localhost'];
    connection.write(
      [...head, 'Accept: text/event-stream', `Authorization: Bearer ${admin.token}`, '', ''].join('\r\n'),
    );
    await waitFor(() => listeners.count === 2);
    await connection.stall();
    const draft = { title: 'Long', content: 'x'.repeat(50_000), status: 'DRAFT' };
    const { id } = expectSuccess(await client.post('/posts', draft), 201, 'Created') as Row;
    let title = 0;

    // Until there is more than the system keeps for a connection; then nothing more is read for it, and its time is up.
    await waitFor(async () => {
      for (let count = 0; count < 20; count++) await client.patch(`/posts/${id}`, { title: String(title++) });
      return listeners.count === 1;
    });

    await other.until(title + 1);
    const { data } = (await client.get(`/posts/${id}`)).body;
    expect(other.data.at(-1)).toMatchObject({ id, version: (data as Row).version });
    other.close();
    connection.destroy();
  });
});
