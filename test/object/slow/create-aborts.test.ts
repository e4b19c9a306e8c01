/** Objects die at each await of what gives addresses to a new cluster and to new Services, of one and of two families. */
import { env } from "cloudflare:test";
import type { Env } from "../../../durable-objects/platform/env";
import { servicesStore } from "../../../durable-objects/peers/peers";
import { addressesOf, holds, service, servingBothFamilies, TAKING } from "../../support/objects/address-paths";
import { describeDeaths } from "../../support/objects/write-path";

const bindings = env as unknown as Env;
const SECOND = "fd00:10:97::/112";

servingBothFamilies();
describeDeaths([
  {
    name: "begin a cluster",
    isNew: true,
    ask: (cluster) =>
      servicesStore(bindings, cluster.name)
        .ensureBootstrapped()
        .then(() => ({ ok: true })),
    done: async (cluster) => (await service(cluster, "kubernetes")) !== undefined,
    awaits: [],
  },
  {
    name: "create a Service",
    ask: (cluster) => cluster.create("web"),
    done: (cluster, answer) => holds(cluster, 1, answer),
    awaits: TAKING,
  },
  {
    name: "create a Service with an address of its choice",
    ask: (cluster) => cluster.create("web", { clusterIP: "10.96.0.77" }),
    done: async (cluster) => String(addressesOf(await service(cluster))) === "10.96.0.77",
    awaits: TAKING,
  },
  {
    name: "create a Service of two families",
    ask: (cluster) => cluster.create("web", { ipFamilyPolicy: "RequireDualStack" }),
    done: (cluster, answer) => holds(cluster, 2, answer),
    awaits: TAKING,
  },
  {
    name: "create a Service with addresses of two owners",
    given: (cluster) => cluster.ranges.created("second", SECOND),
    ask: (cluster) =>
      cluster.create("web", { ipFamilyPolicy: "RequireDualStack", clusterIP: "10.96.0.77", clusterIPs: ["10.96.0.77", "fd00:10:97::77"] }),
    done: (cluster, answer) => holds(cluster, 2, answer),
    awaits: TAKING,
  },
]);
