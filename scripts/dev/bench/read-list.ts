/** One list, and the time to its last byte. */
import { get as getPlain, type IncomingMessage } from "node:http";
import { get as getSecurely } from "node:https";
import type { Target } from "../../cluster/target";

export interface ReadList {
  ms: number;
  body: Buffer;
  /** who answered: see src/api/store/list/list-source.ts; "undefined" where the server does not say */
  source: string;
}

export const PROTOBUF = "application/vnd.kubernetes.protobuf";

/** Rejects for every answer but 200. `path`: with its query. */
export function readList({ url, options }: Target, path: string, accept: string): Promise<ReadList> {
  const startedAt = performance.now();
  const headers = { ...(options.headers as Record<string, string>), Accept: accept };
  return new Promise((resolve, reject) => {
    const take = (response: IncomingMessage): void => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => pieces.push(piece));
      response.on("error", reject);
      response.on("end", () => {
        const ms = performance.now() - startedAt;
        const body = Buffer.concat(pieces);
        const { statusCode, headers: answered } = response;
        if (statusCode === 200) resolve({ ms, body, source: String(answered["servicenet-source"]) });
        else reject(new Error(`a list was answered with ${String(statusCode)} ${body.toString().slice(0, 200)}`));
      });
    };
    const get = url.startsWith("https:") ? getSecurely : getPlain;
    get(url + path, { ...options, headers }, take).on("error", reject);
  });
}
