/** Where a client has reached the server: scheme and host without a path. `certificates`: authorities of the server's, PEM in base64. */
export interface ServedAt {
  readonly origin: string;
  readonly certificates?: string;
}
