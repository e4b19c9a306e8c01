/** The whole Worker with access control on: requests by token, through its real middleware, to real objects. */
import { createExecutionContext, env, waitOnExecutionContext } from "cloudflare:test";
import { createHash, randomBytes } from "node:crypto";
import type { Env } from "../../../durable-objects/platform/env";
import worker from "../../../src/worker/index";
import { freshCluster } from "../objects/store-stubs";

const ID = "0123456789abcdef0123";
const SECRET = randomBytes(32).toString("base64url");
const SALT = randomBytes(16);
const HASH = createHash("sha256")
  .update(Buffer.concat([SALT, Buffer.from(SECRET)]))
  .digest("hex");

/** The token of an administrator of the whole server. */
export const ADMIN_TOKEN = `sn_${ID}_${SECRET}`;

export interface Answer {
  code: number;
  /** as JSON; of other answers undefined */
  body: { message?: string; reason?: string; status?: unknown; [member: string]: unknown };
  headers: Headers;
}

export interface AskOptions {
  token?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** what the platform tells of the sender */
  cf?: CfProperties;
  /** that the URL names */
  host?: string;
}

/** The request as a client wrote it: a Request removes dot segments from its URL. */
function withUrl(request: Request, url: string): Request {
  if (request.url === url) return request;
  return new Proxy(request, {
    get(target, member) {
      if (member === "url") return url;
      const value: unknown = Reflect.get(target, member, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

export class AccessWorld {
  readonly env: Env;
  /** Isolates remember clusters, and all tests share one: so each world has a cluster of its own. */
  readonly cluster = freshCluster(`access-${String(Date.now())}`);

  constructor(vars: Partial<Env> = {}) {
    const bindings = env as unknown as Env;
    this.env = { ...bindings, AUTHORIZATION_MODE: "Node,RBAC", ADMIN_TOKEN_HASHES: `${ID}:${SALT.toString("hex")}:${HASH}`, ...vars };
  }

  /** Makes the cluster that paths are in, unless they name one, belong to the server or are its probes. */
  async begin(): Promise<this> {
    const made = await this.ask("PUT", `/clusters/${this.cluster}`);
    if (made.code !== 201) throw new Error(`no cluster: ${JSON.stringify(made.body)}`);
    return this;
  }

  #target(path: string): string {
    return /^\/(?:clusters\/|admin\/tokens|(?:healthz|livez|readyz)$)/.test(path) ? path : `/clusters/${this.cluster}${path}`;
  }

  #request(method: string, path: string, { token = ADMIN_TOKEN, body, headers = {}, host = "127.0.0.1", cf }: AskOptions): Request {
    const url = `http://${host}${this.#target(path)}`;
    const request = new Request(url, {
      method,
      ...(cf ? { cf } : {}),
      headers: {
        ...(token === "" ? {} : { Authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return withUrl(request, url);
  }

  /** The answer to a GET whose body stays open. */
  open(path: string, token: string): Promise<Response> {
    return Promise.resolve(worker.fetch(this.#request("GET", path, { token }), this.env, createExecutionContext()));
  }

  /** As administrator unless a token is given; "" = without any credential. */
  async ask(method: string, path: string, options: AskOptions = {}): Promise<Answer> {
    const response = await this.answer(method, path, options);
    const text = await response.text();
    return { code: response.status, body: text.startsWith("{") ? (JSON.parse(text) as Answer["body"]) : {}, headers: response.headers };
  }

  /** The same with a body of any form; that of a watch is left. */
  async answer(method: string, path: string, options: AskOptions = {}): Promise<Response> {
    const context = createExecutionContext();
    const response = await worker.fetch(this.#request(method, path, options), this.env, context);
    const isStream = path.includes("watch=") && response.ok;
    if (isStream) await response.body?.cancel();
    const bytes = isStream ? null : await response.arrayBuffer();
    await waitOnExecutionContext(context);
    return new Response(bytes, response);
  }

  /** A new token of this server for a user. */
  async tokenOf(user: string, more: { groups?: string[]; clusters?: string[]; expiresAt?: string } = {}): Promise<string> {
    const answer = await this.ask("POST", "/admin/tokens", { body: { user, ...more } });
    if (answer.code !== 201) throw new Error(`no token: ${JSON.stringify(answer.body)}`);
    return answer.body["token"] as string;
  }

  /** Writes an object; throws where it is refused. */
  async make(path: string, object: object): Promise<void> {
    const answer = await this.ask("POST", path, { body: object });
    if (answer.code !== 201) throw new Error(`${path}: ${String(answer.code)} ${JSON.stringify(answer.body)}`);
  }
}
