import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client';

const sockets: Socket[] = [];

/** A client that is connected, and gives up when it is disconnected. */
export async function connect(url: string, options: Partial<ManagerOptions & SocketOptions> = {}): Promise<Socket> {
  const socket = io(url, { transports: ['websocket'], reconnection: false, forceNew: true, ...options });
  sockets.push(socket);
  await new Promise<void>((resolve, reject) => void socket.once('connect', resolve).once('connect_error', reject));
  return socket;
}

/** Resolves to what a client is told next. */
export const told = (socket: Socket, event: string): Promise<unknown> =>
  new Promise((resolve) => void socket.once(event, resolve));

export const disconnectAll = (): void => sockets.splice(0).forEach((socket) => void socket.disconnect());
