/** Where the version of a call (src/api/rpc/protocol) goes out and comes in: one place for all stubs, and one for all classes of objects. */
import { DurableObject } from "cloudflare:workers";
import { checkHeader, SPOKEN, PROTOCOL_HEADER, namesVersion, withoutVersion, withVersion } from "../../src/api/rpc/protocol";

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Objects = new (...args: never[]) => DurableObject;

/** What an object has that wants to know of calls by the release before versions; called before the method. */
export const CALLED_BY_OLDER = Symbol("called by an older release");
type HearsOlder = Partial<Record<typeof CALLED_BY_OLDER, () => void>>;

/** What the platform itself calls. */
const HANDLERS: ReadonlySet<string> = new Set(["constructor", "alarm", "webSocketMessage", "webSocketClose", "webSocketError"]);

/** A stub each of whose calls names the version that this release speaks. */
export function naming(stub: object): object {
  return new Proxy(stub, {
    get(target, name) {
      const members = target as Record<string | symbol, Method | undefined>;
      if (typeof members[name] !== "function" || name === "then") return members[name];
      // A member of a stub is called as such: any other use of it would be a call of its own.
      const call = (...args: unknown[]): unknown => members[name]?.(...args);
      if (name !== "fetch") return (...args: unknown[]) => call(...withVersion(args));
      return (request: Request) => {
        request.headers.set(PROTOCOL_HEADER, String(SPOKEN));
        return call(request);
      };
    },
  });
}

/** Makes the objects of these classes refuse callers whose version they do not understand. */
export function checkCallers(...classes: Objects[]): void {
  for (const { prototype } of classes) {
    for (let at = prototype as object; at !== DurableObject.prototype; at = Object.getPrototypeOf(at) as object) {
      for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)) as [string, { value?: unknown }][]) {
        if (typeof value === "function" && !HANDLERS.has(name)) Object.defineProperty(at, name, { value: checked(name, value as Method) });
      }
    }
  }
}

function checked(name: string, method: Method): Method {
  if (name === "fetch") {
    return function (request) {
      checkHeader((request as Request).headers.get(PROTOCOL_HEADER), name);
      return method.call(this, request);
    };
  }
  return function (...args) {
    const given = withoutVersion(args, name) as unknown[];
    if (!namesVersion(args)) (this as HearsOlder)[CALLED_BY_OLDER]?.();
    return method.apply(this, given);
  };
}
