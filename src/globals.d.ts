/** What every JavaScript runtime of today has and pure code may use, although it stands outside the language itself. */
declare class TextEncoder {
  encode(input?: string): Uint8Array<ArrayBuffer>;
  encodeInto(input: string, target: Uint8Array): { read: number; written: number };
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(input?: ArrayBufferView | ArrayBuffer, options?: { stream?: boolean }): string;
}
/** Passed through by contracts (rpc/), built and read only by the Worker and the Durable Objects. */
interface Request {
  readonly url: string;
}
interface Response {
  readonly status: number;
}
declare class AbortController {
  readonly signal: AbortSignal;
  abort(): void;
}
interface AbortSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}
declare class URLSearchParams {
  constructor(query: string);
  get(name: string): string | null;
}
