/**
 * Lookups of the names that checks ask. Each holds one of the process's four threads for files and names until the name servers answer or are given
 * up. Many at once would keep the agent from its own files, and from the API server's name.
 */
import type { LookupAddress, LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import { atMost } from "../../src/core/base/in-parallel";

const AT_ONCE = 2;

type Answer = Parameters<Parameters<LookupFunction>[2]>;
type Lookup = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
) => void;

/** `lookup`, two names at a time, and each name once at a time: who asks for it meanwhile gets the same answer. */
export function boundedLookup(lookup: Lookup): LookupFunction {
  const inTurn = atMost(AT_ONCE);
  const asked = new Map<string, Promise<Answer>>();
  return (hostname, options, callback) => {
    const key = JSON.stringify([hostname, options]);
    let answer = asked.get(key);
    if (!answer) {
      answer = inTurn(() => new Promise<Answer>((resolve) => lookup(hostname, options, (...found) => resolve(found))));
      asked.set(key, answer);
      void answer.then(() => asked.delete(key));
    }
    void answer.then((found) => callback(...found));
  };
}
