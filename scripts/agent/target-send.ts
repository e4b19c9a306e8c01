/** How the agent asks its server: with the target's certificates and headers, and with a token that is read anew. */
import { readFile } from "node:fs/promises";
import type { SendLike } from "../../src/clients/elector/index";
import { begin, read } from "../cluster/send";
import type { Target } from "../cluster/target";

/** A token is read again after so long, and after a refusal. */
const TOKEN_AGE_MS_MAX = 5_000;
const UNAUTHORIZED = 401;

export function targetSend(target: Target, tokenFile: string | undefined): SendLike {
  const token = tokenFile === undefined ? undefined : new TokenFile(tokenFile);
  return async (path, { method = "GET", signal, body, headers }) => {
    const authorization = token && { Authorization: `Bearer ${await token.read()}` };
    const asked: Target = {
      ...target,
      options: { ...target.options, headers: { ...headers, ...(target.options.headers as object), ...authorization } },
    };
    const sent = body === undefined ? {} : { body: JSON.parse(body) as object, type: headers?.["Content-Type"] };
    const response = await begin(asked, method, path, { ...sent, signal });
    if (response.statusCode === UNAUTHORIZED) token?.forget();
    return { status: response.statusCode ?? 0, body: response, text: async () => (await read(response)).text };
  };
}

class TokenFile {
  #text = "";
  #readAt = -Infinity;

  constructor(private readonly file: string) {}

  /**
   * The last token stays while the file is missing or empty, as in client-go (transport/token_source.go): whoever replaces it may need a moment. Rejects
   * while there was none: the request is tried again.
   */
  async read(): Promise<string> {
    const now = performance.now();
    if (now - this.#readAt < TOKEN_AGE_MS_MAX) return this.#text;
    try {
      const text = (await readFile(this.file, "utf8")).trim();
      if (text === "") throw new Error(`${this.file} holds no token`);
      this.#text = text;
      this.#readAt = now;
    } catch (error) {
      if (this.#text === "") throw error;
    }
    return this.#text;
  }

  forget(): void {
    this.#readAt = -Infinity;
  }
}
