/** As in a URL: `10.0.0.1:80`, `[fd00::1]:80`. Only IPv6 addresses have colons. */
export function hostAndPort(address: string, port: number): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}
