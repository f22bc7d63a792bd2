import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Drain } from '../../src/platform/server/drain';
import { waitFor } from '../../src/platform/testing';

describe('A request that is held while the port is closed', () => {
  it('is not begun when its client has gone meanwhile, and the stop waits for nobody', async () => {
    const served: string[] = [];
    const server = createServer();
    const drain = new Drain(server, (request, response) => {
      served.push(request.url!);
      response.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const [leaving, staying] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await Promise.all([once(leaving, 'connect'), once(staying, 'connect')]);
    // As if somebody connected in each turn: what is asked meanwhile is held for as long as it may be.
    let connecting = true;
    const connectAgain = () => {
      drain['latest'] = performance.now();
      if (connecting) setImmediate(connectAgain);
    };
    connectAgain();

    const begun = drain.begin();
    const asks = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    leaving.write(asks('/left'));
    staying.write(asks('/stays'));
    await waitFor(() => (drain['held']?.length ?? 0) === 2);
    leaving.destroy();
    await waitFor(() => [...drain['connections']].length === 1);
    await begun;
    connecting = false;

    expect(served).toEqual(['/stays']);
    await waitFor(() => [...drain['unanswered']].length === 0);
    staying.destroy();
    await drain.finish();
  });
});
