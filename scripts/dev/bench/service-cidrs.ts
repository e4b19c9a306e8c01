/** ServiceCIDRs of the server under measurement: made, waited for, deleted. */
import type { Server } from "../../../test/support/server/server";

/** clients that create ServiceCIDRs at the same time */
const OPERATORS = 10;
const WAIT_MS_MAX = 120_000;

/** A request below the collection of ServiceCIDRs of a cluster; `path` is "", "/<name>" or "/<name>/status". */
export function callServiceCIDRs(server: Server, method: string, path: string, body?: object, cluster = "default"): Promise<Response> {
  return fetch(`${server.url}/clusters/${cluster}/apis/networking.k8s.io/v1/servicecidrs${path}`, {
    method,
    headers: { "Content-Type": method === "PATCH" ? "application/merge-patch+json" : "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

/** Creates a ServiceCIDR; throws unless the answer is 201. It may not be Ready yet. */
export async function createServiceCIDR(server: Server, name: string, cidr: string, cluster = "default"): Promise<void> {
  const object = { apiVersion: "networking.k8s.io/v1", kind: "ServiceCIDR", metadata: { name }, spec: { cidrs: [cidr] } };
  const answer = await callServiceCIDRs(server, "POST", "", object, cluster);
  if (answer.status !== 201) throw new Error(`ServiceCIDR ${name}: ${String(answer.status)} ${await answer.text()}`);
}

/** Creates `range-0`, `range-1`, … with one prefix each, by some clients at the same time, and waits until all are Ready. */
export async function createReadyServiceCIDRs(server: Server, prefixes: readonly string[], cluster = "default"): Promise<void> {
  const readyBefore = await countReady(server, cluster);
  let next = 0;
  const operator = async (): Promise<void> => {
    for (let i = next++; i < prefixes.length; i = next++) await createServiceCIDR(server, `range-${String(i)}`, prefixes[i] ?? "", cluster);
  };
  await Promise.all(Array.from({ length: OPERATORS }, operator));
  await until(async () => (await countReady(server, cluster)) === readyBefore + prefixes.length);
}

interface Listed {
  items: { metadata: { name: string }; status?: { conditions?: { type: string; status: string }[] } }[];
}

/** How many ServiceCIDRs of the cluster are Ready. */
export async function countReady(server: Server, cluster = "default"): Promise<number> {
  const { items } = (await (await callServiceCIDRs(server, "GET", "", undefined, cluster)).json()) as Listed;
  return items.filter(({ status }) => status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")).length;
}

/** Waits, asking every 10 ms; throws after two minutes. */
export async function until(predicate: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + WAIT_MS_MAX;
  while (!(await predicate())) {
    if (performance.now() > end) throw new Error("it takes longer than two minutes");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
