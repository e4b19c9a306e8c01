/** One HTTP request with the certificates and headers of a target; connections are kept. */
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { printJson } from "../../src/core/encoding/exact-json";
import type { Target } from "./target";
import { explained, refuseHttpsAlone } from "./wrong-scheme";

/** As many as all programs send at once. */
const SOCKETS_MAX = 64;
const SILENCE_MS_MAX = 120_000;
/** The local runtime closes a connection that was idle for five seconds. A request that is sent in that moment gets no answer. */
const IDLE_MS_MAX = 3_000;
const kept = { keepAlive: true, maxSockets: SOCKETS_MAX, timeout: IDLE_MS_MAX };
const plain = new Agent(kept);
const secure = new HttpsAgent(kept);

export interface Reply {
  status: number;
  text: string;
  /** "" = there is none of this name, which is in lower case */
  header(name: string): string;
}

interface Sent {
  /** text of the Content-Type */
  type?: string | undefined;
  body?: object | undefined;
  signal?: AbortSignal | undefined;
  /** The connection is cut when nothing comes for so long. */
  silenceMs?: number | undefined;
}

/** Rejects when no whole answer comes, with a WrongScheme where the address is that of another protocol. `type`: the Content-Type of the body. */
export async function send(target: Target, method: string, path: string, body?: object, type?: string): Promise<Reply> {
  const reply = await read(await begin(target, method, path, { body, type }));
  refuseHttpsAlone(target.url, reply.status, reply.text);
  return reply;
}

/** The beginning of an answer; its body comes as it is sent. Rejects when no answer begins, and when `signal` aborts. */
export function begin(
  { url, options }: Target,
  method: string,
  path: string,
  { body, type, signal, silenceMs = SILENCE_MS_MAX }: Sent = {},
): Promise<IncomingMessage> {
  const isSecure = url.startsWith("https:");
  const text = body === undefined ? undefined : printJson(body);
  const headers = {
    ...(options.headers as Record<string, string>),
    Accept: "application/json",
    ...(text === undefined ? {} : { "Content-Type": type, "Content-Length": Buffer.byteLength(text) }),
  };
  const whole = { agent: isSecure ? secure : plain, ...options, method, headers, signal, timeout: silenceMs };
  return new Promise((resolve, reject) => {
    const request = (isSecure ? httpsRequest : httpRequest)(url + path, whole, resolve);
    request.on("timeout", () => request.destroy(new Error(`no answer for ${silenceMs / 1_000} s`)));
    request.on("error", (error) => void explained(url, error).then(reject));
    request.end(text);
  });
}

/** The whole answer. */
export async function read(response: IncomingMessage): Promise<Reply> {
  response.setEncoding("utf8");
  const parts: string[] = [];
  for await (const part of response) parts.push(part as string);
  const header = (name: string): string => {
    const value = response.headers[name];
    return (Array.isArray(value) ? value.join(", ") : value) ?? "";
  };
  return { status: response.statusCode ?? 0, text: parts.join(""), header };
}
