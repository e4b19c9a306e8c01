import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { changeFenced, type KubeObject, type SendLike, takePart, type Term } from "servicenet/elector";

const [server = "http://127.0.0.1:8787", name = "a", seconds = "15"] = process.argv.slice(2);
type ConfigMap = KubeObject & { data?: Record<string, string> };
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

const send: SendLike = (path, init) => fetch(server + path, init as RequestInit);
const clock = {
  now: () => Date.now(),
  steady: () => performance.now(),
  after: (ms: number, work: () => void) => {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** Counts in a ConfigMap, once a second, while this process leads. */
async function count(term: Term): Promise<void> {
  console.log(`${name} leads`);
  while (term.isValid) {
    await countOnce(term).catch((error: Error) => console.error(`${name}: ${error.message}`));
    await sleep(1_000, undefined, { signal: term.signal as never }).catch(() => undefined);
  }
}

async function countOnce(term: Term): Promise<void> {
  const next = ({ data }: ConfigMap): string => String(Number(data?.["count"] ?? 0) + 1);
  const counted = await changeFenced<ConfigMap>({
    send,
    clock,
    term,
    path: `${CONFIG_MAPS}/counted`,
    change: (stored) => ({ ...stored, data: { count: next(stored), by: name } }),
  });
  if (counted.ok) console.log(`${name} has counted to ${counted.value.data?.["count"] ?? ""}`);
  else console.log(`${name} may not count: ${counted.error.reason}`);
}

await send(CONFIG_MAPS, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ metadata: { name: "counted" } }),
  signal: AbortSignal.timeout(10_000),
});
const election = takePart({
  send,
  clock,
  random: { next: () => Math.random() },
  namespace: "default",
  name: "counting",
  identity: `${name}_${randomUUID()}`,
  leaseDurationSeconds: Number(seconds),
  renewDeadlineSeconds: (Number(seconds) * 2) / 3,
  retryPeriodSeconds: Number(seconds) / 7.5,
  lead: count,
  onError: (error) => console.error(`${name}: ${error.message}`),
});
process.once("SIGINT", () => void election.stop().then(() => process.exit(0)));
