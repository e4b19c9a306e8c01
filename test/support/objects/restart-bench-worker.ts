/** The Worker of scripts/dev/bench/suites/restart.ts, here because it is type-checked for workerd and not for Node. Drives ServiceCIDR objects and times them from where their callers sit. */
import type { ServiceCIDR } from "../../../durable-objects/service-cidr";
import type { AllocateItem } from "../../../src/addresses/rpc/service-cidr";

export { ServiceCIDR } from "../../../durable-objects/service-cidr";

interface Env {
  SERVICE_CIDR: DurableObjectNamespace<ServiceCIDR>;
}

/** GET /configure/<object>?range=<CIDR>, /allocate/<object>?count=<n>: one call to the object; answers { milliseconds, given }. */
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const [, verb = "", name = ""] = pathname.split("/");
    const stub = env.SERVICE_CIDR.getByName(name);
    const range = searchParams.get("range") ?? "";
    const items = Array.from({ length: Number(searchParams.get("count")) }, anItem);
    const started = performance.now();
    if (verb === "configure") {
      await stub.configure({ epoch: 1, owned: [range], ranges: [range], frozen: [], receiving: [], retired: false });
      return Response.json({ milliseconds: performance.now() - started, given: 0 });
    }
    const { results } = await stub.allocate(items);
    return Response.json({ milliseconds: performance.now() - started, given: results.filter(({ ok }) => ok).length });
  },
};

function anItem(): AllocateItem {
  const uid = crypto.randomUUID();
  return {
    token: crypto.randomUUID(),
    holder: { kind: "service", namespace: "default", name: `web-${uid}`, uid },
    family: "IPv4",
    address: "",
  };
}
