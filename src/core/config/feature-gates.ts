/**
 * Kubernetes feature gates that change what this server does, read as `--feature-gates` is
 * (upstream: component-base/featuregate; history of each gate: KEP-1880, KEP-3070, KEP-1965, KEP-3836).
 */
import { err, ok, type Result } from "../base/result";

export interface FeatureGates {
  /** addresses come from ServiceCIDR objects and are recorded as IPAddress objects */
  MultiCIDRServiceAllocator: boolean;
  /** the bitmaps of older releases are no longer written */
  DisableAllocatorDualWrite: boolean;
  /** every range has a lower band for addresses that clients request */
  ServiceIPStaticSubrange: boolean;
  /** each server renews an identity Lease in kube-system */
  APIServerIdentity: boolean;
  /** health checks of load balancers distinguish draining nodes */
  KubeProxyDrainingTerminatingNodes: boolean;
}

type Gate = keyof FeatureGates;

const DEFAULTS: Readonly<FeatureGates> = {
  MultiCIDRServiceAllocator: true,
  DisableAllocatorDualWrite: true,
  ServiceIPStaticSubrange: true,
  APIServerIdentity: true,
  KubeProxyDrainingTerminatingNodes: true,
};

/** gate -> the gate that it requires */
const DEPENDS_ON: Partial<Record<Gate, Gate>> = { DisableAllocatorDualWrite: "MultiCIDRServiceAllocator" };

/** The texts that Go's strconv.ParseBool accepts. */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ...["1", "t", "T", "true", "TRUE", "True"].map((text) => [text, true] as const),
  ...["0", "f", "F", "false", "FALSE", "False"].map((text) => [text, false] as const),
]);

function isGate(name: string): name is Gate {
  return Object.hasOwn(DEFAULTS, name);
}

/** "A=true,B=false" -> every gate's value; gates not named keep their default. All mistakes are reported, in the order of the text. */
export function parseFeatureGates(text: string): Result<FeatureGates, string[]> {
  const gates: FeatureGates = { ...DEFAULTS };
  const errors: string[] = [];
  for (const part of text.split(",")) {
    const pair = part.trim();
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = equals < 0 ? pair : pair.slice(0, equals).trim();
    const value = equals < 0 ? undefined : BOOLEANS.get(pair.slice(equals + 1).trim());
    if (equals < 0) errors.push(`missing bool value for ${name}`);
    else if (!isGate(name)) errors.push(`unrecognized feature gate: ${name} (the gates are ${Object.keys(DEFAULTS).join(", ")})`);
    else if (value === undefined) errors.push(`invalid value of ${name}=${pair.slice(equals + 1).trim()}, want true or false`);
    else gates[name] = value;
  }
  for (const [name, needed] of Object.entries(DEPENDS_ON) as [Gate, Gate][]) {
    if (gates[name] && !gates[needed]) errors.push(`${name} is enabled, but depends on features that are disabled: [${needed}]`);
  }
  return errors.length === 0 ? ok(gates) : err(errors);
}
