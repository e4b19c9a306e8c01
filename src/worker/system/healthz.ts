/**
 * Health endpoints. Live = this Worker answers; ready = it could serve a request of this cluster, which takes its Coordinator.
 * Source: upstream apiserver server/healthz.
 */
import type { Env } from "../../../durable-objects/env";
import { coordinator } from "../../../durable-objects/peers";
import { log } from "../http/log";
import { READY_TIMEOUT_MS } from "../http/limits";
import { call } from "../routing/call";
import { pageNotFound, textResponse } from "../http/respond";

export type Probe = "healthz" | "livez" | "readyz";

interface Check {
  name: string;
  /** undefined = fine, else why not: for the log, never for the client */
  run(env: Env, cluster: string): Promise<string | undefined>;
}

const PING: Check = { name: "ping", run: () => Promise.resolve(undefined) };
/** The guard in front of every route has refused the request when the configuration is invalid. */
const CONFIG: Check = { name: "config", run: () => Promise.resolve(undefined) };
const COORDINATOR: Check = {
  name: "coordinator",
  async run(env, cluster) {
    const answer = await call(() => coordinator(env, cluster).topology(), {
      what: "coordinator.topology",
      repeatable: true,
      timeoutMs: READY_TIMEOUT_MS,
    });
    return answer.ok ? undefined : (answer.error.message ?? "no answer");
  },
};

const CHECKS: Readonly<Record<Probe, readonly Check[]>> = {
  healthz: [PING, CONFIG],
  livez: [PING, CONFIG],
  readyz: [PING, CONFIG, COORDINATOR],
};

/** GET /{probe} and /{probe}/{check}; `only` is the check's name, "" = all. */
export async function probeResponse(env: Env, cluster: string, probe: Probe, only: string, query: URLSearchParams): Promise<Response> {
  const excluded = new Set(query.getAll("exclude"));
  const checks = CHECKS[probe].filter((check) => (only === "" ? !excluded.has(check.name) : check.name === only));
  if (only !== "" && checks.length === 0) return pageNotFound();
  const problems = await Promise.all(checks.map((check) => check.run(env, cluster)));
  const lines = checks.map((check, i) =>
    problems[i] === undefined ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`,
  );
  for (const name of only === "" ? excluded : []) {
    if (CHECKS[probe].some((check) => check.name === name)) lines.push(`[+]${name} excluded: ok\n`);
  }
  const failed = problems.flatMap((problem, i) => (problem === undefined ? [] : [`${checks[i]?.name ?? ""}: ${problem}`]));
  if (failed.length > 0) {
    log("warn", "health check failed", { probe, cluster, problems: failed.join("; ") });
    return textResponse(500, `${lines.join("")}${probe} check failed\n`);
  }
  return textResponse(200, query.has("verbose") && only === "" ? `${lines.join("")}${probe} check passed\n` : "ok");
}
