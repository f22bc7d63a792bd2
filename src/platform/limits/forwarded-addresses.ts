/** Values that are remembered at most, because a client may invent any number of them. */
const MAX_REMEMBERED = 1_000;
/** The greatest length of a value that is remembered, in characters: the addresses of a client and three proxies. */
const MAX_LENGTH = 200;

/**
 * Remembers which client a value of `X-Forwarded-For` names. To find it takes 2 % of a simple request, and the clients
 * of a service come again.
 */
export class ForwardedAddresses {
  private readonly remembered = new Map<string, string | undefined>();

  /**
   * @param proxy the address of the connection
   * @param value of the header
   * @param find finds the client, which depends on the other two alone
   */
  of(proxy: string | undefined, value: string | string[], find: () => string | undefined): string | undefined {
    if (typeof value !== 'string' || value.length > MAX_LENGTH) return find();
    const key = `${proxy} ${value}`;
    let address = this.remembered.get(key);
    if (address !== undefined || this.remembered.has(key)) return address;
    address = find();
    if (this.remembered.size >= MAX_REMEMBERED) this.remembered.clear();
    this.remembered.set(key, address);
    return address;
  }
}
