/**
 * The guard of static bands. With STATIC_BAND_GUARD only those who may `use` the ServiceCIDR `static` get an address of a static band by its name. So
 * nobody takes the address of kube-dns before kube-dns has it. An address that the allocator chose is never judged.
 */
import { inStaticBands } from "../../addresses/ranges/static-band";
import { parseJson } from "../../core/encoding/exact-json";
import type { KubeObject, Service } from "../../api/meta/kubernetes";
import { forbidden } from "../../api/meta/status";
import type { WriteRequest } from "../../api/rpc/store";
import { resourceAttributes } from "../../access/authorization/attributes";
import { coordinator } from "../../../durable-objects/peers/peers";
import { call } from "../routing/call";
import type { WriteJudge } from "../access/judged-write";
import type { ResourceRequest } from "./resource-request";

const USE_STATIC = resourceAttributes({ verb: "use", group: "networking.k8s.io", resource: "servicecidrs", name: "static" });

/** Undefined = the write names no address, or the caller may have any. */
export function staticBandGuard(request: ResourceRequest, wanted: WriteRequest): WriteJudge | undefined {
  const { access, config, env, info } = request;
  const { definition } = info;
  if (!config.staticBandGuard || !config.featureGates.ServiceIPStaticSubrange) return undefined;
  if (definition.group !== "" || definition.resource !== "services" || !namesAddress(wanted)) return undefined;
  if (access.judge(access.caller.user, USE_STATIC).decision === "allow") return undefined;
  return async (before, after) => {
    const held = addressesOf(before);
    const asked = addressesOf(wanted.verb === "patch" ? after : bodyOf(wanted)).filter((address) => !held.includes(address));
    if (asked.length === 0) return undefined;
    const reading = await call(() => coordinator(env, info.cluster).ranges(), { what: "coordinator.ranges", repeatable: true });
    if (!reading.ok) return reading.error;
    const reserved = inStaticBands(asked, reading.value.sources);
    if (reserved.length === 0) return undefined;
    const why = `User ${JSON.stringify(access.caller.user.name)} may not ask for ${reserved.join(", ")}: it is in a static band, which needs the right to use the servicecidr "static"`;
    return forbidden(definition, after?.metadata?.name ?? info.name, why);
  };
}

/** A patch that does not say `clusterIP` anywhere names no address. */
function namesAddress(wanted: WriteRequest): boolean {
  return wanted.verb === "patch" ? unescaped(wanted.patch).includes("clusterIP") : addressesOf(bodyOf(wanted)).length > 0;
}

/** The patch without escapes in its texts; a patch that cannot be read is the store's to refuse. */
function unescaped(patch: string): string {
  try {
    return JSON.stringify(parseJson(patch));
  } catch {
    return patch;
  }
}

function bodyOf(wanted: WriteRequest): KubeObject | undefined {
  return wanted.verb === "create" || wanted.verb === "update" ? (JSON.parse(wanted.object) as KubeObject) : undefined;
}

/** All that a client names, also where the two members contradict each other: the store judges that later. */
function addressesOf(service: KubeObject | undefined): string[] {
  const { clusterIP = "", clusterIPs = [] } = (service as Service | undefined)?.spec ?? {};
  return [...new Set([clusterIP, ...clusterIPs])].filter((address) => address !== "" && address !== "None");
}
