/** The ports of the endpoint part to the machine, beside the ports of the whole agent. */

export interface HttpAnswer {
  readonly status: number;
  /** where the header Location of a redirect points to; absent = there is no such header, or the answer is no redirect */
  readonly redirect?: { readonly url: string; readonly leavesHost: boolean };
}

/** Both reject when nobody answers, or not within the time, a whole number of milliseconds. Each call is a connection of its own. */
export interface ProbePorts {
  /** A GET that neither follows redirects, nor asks a proxy, nor judges certificates. Rejects for a redirect to what is no HTTP URL. */
  httpGet(url: string, headers: Readonly<Record<string, string>>, timeoutMs: number): Promise<HttpAnswer>;
  tcpConnect(host: string, port: number, timeoutMs: number): Promise<void>;
}

/** The file of endpoints. */
export interface EndpointText {
  /** as messages name it */
  readonly name: string;
  /** Rejects when there is none, or when it cannot be read. */
  read(): Promise<string>;
}
