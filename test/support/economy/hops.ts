/** Counts how many calls of objects an answer waits for, one behind the other: what distance costs, whatever the machine does. */
import { env } from "cloudflare:test";
import type { Env } from "../../../durable-objects/platform/env";

const bindings = env as unknown as Env;
/** Nothing begins or ends for so many looks: whoever goes on waits for a call that is held. */
const QUIET_LOOKS = 4;
const LOOK_MS = 5;
const HELD_MS = 1;
/** Every way to wait for the key-value store. */
const KV_METHODS = ["get", "getWithMetadata", "list", "put", "delete"] as const;

type Method = (...args: unknown[]) => unknown;

/**
 * Time stands still while anything works, and each call takes one unit of it: calls that begin side by side end side by side. So the units until the
 * answer are the longest chain of calls that it waits for. Reads of the key-value store take none: they are answered near the Worker.
 *
 * @returns the units, and what was called in each: "services write"
 */
export async function countedHops(work: () => Promise<unknown>): Promise<string[][]> {
  const rounds: string[][] = [];
  let begun: string[] = [];
  let held = 0;
  let underWay = 0;
  let changes = 0;
  let isOver = false;
  const follow = <T>(result: T): T => {
    underWay++;
    changes++;
    const ended = (): void => {
      underWay--;
      changes++;
    };
    Promise.resolve(result).then(ended, ended);
    return result;
  };
  /** Each waits by itself: no request of the platform may wait for another. */
  const inNextRound = async (call: Method): Promise<unknown> => {
    const round = rounds.length;
    held++;
    changes++;
    while (!isOver && rounds.length === round) await scheduler.wait(HELD_MS);
    held--;
    changes++;
    return call();
  };
  const namespaces = Object.getPrototypeOf(bindings.CONTROLLER) as DurableObjectNamespace;
  const get = namespaces.get;
  namespaces.get = function (this: DurableObjectNamespace, id, options) {
    const stub = get.call(this, id, options);
    return new Proxy(stub, {
      get(target, key) {
        const methods = target as unknown as Record<string | symbol, Method>;
        if (typeof methods[key] !== "function") return methods[key];
        return (...args: unknown[]): unknown => {
          begun.push(`${id.name?.slice(id.name.indexOf("/") + 1) ?? ""} ${String(key)}`);
          return inNextRound(() => methods[key]?.(...args));
        };
      },
    });
  };
  const kv = Object.getPrototypeOf(bindings.DIRECTORY) as Record<string, Method>;
  const real = KV_METHODS.map((method) => [method, kv[method]] as const);
  for (const [method, read] of real)
    kv[method] = function (this: KVNamespace, ...args: unknown[]) {
      return follow(read?.apply(this, args));
    };
  try {
    const answered = work().finally(() => (isOver = true));
    for (let looks = 0, seen = changes; !isOver; seen = changes) {
      await scheduler.wait(LOOK_MS);
      looks = underWay > 0 || changes !== seen ? 0 : looks + 1;
      if (looks < QUIET_LOOKS || held === 0) continue;
      looks = 0;
      rounds.push(begun);
      begun = [];
    }
    await answered;
  } finally {
    isOver = true;
    namespaces.get = get;
    for (const [method, read] of real) if (read) kv[method] = read;
  }
  return rounds;
}
