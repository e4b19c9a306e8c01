/** Plays a group of the corpus against a server, and says its answers in a form that does not change from one run to the next. */
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { once } from "node:events";
import { parse } from "yaml";
import { Names } from "./names";
import { comparable } from "./not-compared";
import { onlyServed } from "./only-served";
import { type Group, type Step, stepId } from "./step";

export interface ReplayTarget {
  /** with the path of the cluster */
  url: string;
  headers?: Record<string, string>;
  /** of a server with HTTPS, PEM */
  ca?: string;
}

export interface Answer {
  code: number;
  /** those headers that say something to a client */
  headers: Record<string, string>;
  /** parsed JSON, the events of a watch, or a text */
  body: unknown;
}

const HEADERS = ["allow", "content-type", "location", "retry-after", "warning", "www-authenticate"];
const kept = { keepAlive: true, maxSockets: 8, timeout: 3_000 };
const plain = new Agent(kept);
const secure = new HttpsAgent(kept);
const SILENCE_MS_MAX = 30_000;
/** A stream that says no more counts as one that is open. */
const OPEN_MS_MAX = 5_000;

/** The namespace of a group. */
function namespaceOf({ name }: Group): string {
  return `replay-${name}`;
}

/** The answers by the steps' ids. The group's namespace is made first. Rejects when the server gives no answer. */
export async function playGroup(target: ReplayTarget, group: Group): Promise<Map<string, Answer>> {
  const namespace = namespaceOf(group);
  const names = new Names();
  const answers = new Map<string, Answer>();
  const made = await send(target, { method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } }, (text) => text);
  if (made.code !== 201) throw new Error(`namespace ${namespace}: ${String(made.code)} ${made.text}`);
  for (const case_ of group.cases) {
    for (const [index, step] of case_.steps.entries()) {
      const filled = (text: string): string => names.fill(text.replaceAll("$NS", namespace));
      const { code, headers, text, sent } = await send(target, step, filled);
      names.sent(sent);
      answers.set(stepId(group, case_, index), {
        code,
        headers: names.headers(headers),
        body: comparable(names.body(parsed(text, headers, step), step)),
      });
    }
  }
  return answers;
}

interface Raw {
  code: number;
  headers: Record<string, string>;
  text: string;
  /** path and body as they were sent */
  sent: string;
}

async function send({ url, headers = {}, ca }: ReplayTarget, step: Step, filled: (text: string) => string): Promise<Raw> {
  const { origin, pathname, hostname, port, protocol } = new URL(url);
  const path = (pathname === "/" ? "" : pathname) + filled(step.path);
  const { body, type = "application/json" } = step;
  const text = body === undefined ? undefined : filled(typeof body === "string" ? body : JSON.stringify(body));
  const all = {
    ...headers,
    Accept: step.accept ?? "application/json",
    ...(text === undefined || type === "" ? {} : { "Content-Type": type }),
    ...(text === undefined ? {} : { "Content-Length": String(Buffer.byteLength(text)) }),
  };
  const isSecure = protocol === "https:";
  const options = { hostname, port, method: step.method, path, headers: all, timeout: SILENCE_MS_MAX };
  const outgoing = isSecure ? httpsRequest({ ...options, agent: secure, ca }) : httpRequest({ ...options, agent: plain });
  outgoing.on("timeout", () => outgoing.destroy(new Error(`${origin}: no answer to ${step.method} ${path}`)));
  outgoing.on("error", () => undefined);
  outgoing.end(text);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  const answer = await textOf(response, step.events);
  const said = HEADERS.flatMap((name) => {
    const value = response.headers[name];
    return value === undefined ? [] : [[name, String(value)] as const];
  });
  return { code: response.statusCode ?? 0, headers: Object.fromEntries(said), text: answer, sent: `${path} ${text ?? ""}` };
}

/** The whole body, or the first `events` lines of it. */
async function textOf(response: IncomingMessage, events = Infinity): Promise<string> {
  response.setEncoding("utf8");
  let text = "";
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    response.destroy();
  }, OPEN_MS_MAX);
  try {
    for await (const part of response) {
      text += part as string;
      const lines = text.split("\n").filter((line) => line.trim() !== "");
      if (text.endsWith("\n") && response.statusCode === 200 && lines.length >= events) break;
    }
  } catch (error) {
    if (!isLate) throw error;
    return `${text}<open>`;
  } finally {
    clearTimeout(late);
  }
  return text;
}

function parsed(text: string, headers: Record<string, string>, { events, onlyServed: onlyServedCounts }: Step): unknown {
  if (headers["content-type"] === "application/yaml") return parse(text) as unknown;
  if (!/json/.test(headers["content-type"] ?? "")) return text;
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  try {
    if (onlyServedCounts) return onlyServed(JSON.parse(text) as unknown);
    return events === undefined ? (JSON.parse(text) as unknown) : lines.slice(0, events).map((line) => JSON.parse(line) as unknown);
  } catch {
    return text;
  }
}
