/** Files of one volume that would lie in each other's place. Source: upstream pkg/api/pod/warnings.go (warningsForOverlappingVirtualPaths). */
import type { Volume } from "../../meta/kubernetes";

type Source = NonNullable<NonNullable<Volume["projected"]>["sources"]>[number];
type Items = readonly { path: string }[] | undefined;

/** A path, and what it comes from; "" = the volume has one source only. */
interface VolumePath {
  path: string;
  source: string;
}

/** Paths of a volume that later ones are compared with, and pairs that are told: the work stays linear, however large the Pod is. */
const COMPARED_MAX = 100;

/** One text for each pair. */
export function overlappingPaths({ name, configMap, secret, downwardAPI, projected }: Volume): string[] {
  const warnings: string[] = [];
  const told = (kind: string, places: readonly VolumePath[]): void => {
    for (const pair of overlaps(places)) warnings.push(`volume ${JSON.stringify(name)} (${kind}): overlapping paths: ${pair}`);
  };
  if (configMap) told(`ConfigMap ${JSON.stringify(configMap.name ?? "")}`, placesOf(configMap.items, ""));
  if (secret) told(`Secret ${JSON.stringify(secret.secretName ?? "")}`, placesOf(secret.items, ""));
  if (downwardAPI) told("DownwardAPI", placesOf(downwardAPI.items, ""));
  const sources = projected?.sources ?? [];
  for (const source of sources) {
    if (Object.keys(source).length === 0) warnings.push(`volume ${JSON.stringify(name)} (Projected) has no sources provided`);
  }
  told("Projected", sources.flatMap(projectedPlaces));
  return warnings;
}

function placesOf(items: Items, source: string): VolumePath[] {
  return (items ?? []).map(({ path }) => ({ path, source }));
}

function projectedPlaces({
  configMap,
  secret,
  downwardAPI,
  serviceAccountToken,
  clusterTrustBundle,
  podCertificate,
}: Source): VolumePath[] {
  if (configMap?.items) return placesOf(configMap.items, `ConfigMap ${JSON.stringify(configMap.name ?? "")}`);
  if (secret?.items) return placesOf(secret.items, `Secret ${JSON.stringify(secret.name ?? "")}`);
  if (downwardAPI?.items) return placesOf(downwardAPI.items, "DownwardAPI");
  if (serviceAccountToken) return placesOf([serviceAccountToken], "ServiceAccountToken");
  if (clusterTrustBundle) {
    const named = clusterTrustBundle.name ?? clusterTrustBundle.signerName ?? "";
    return placesOf([clusterTrustBundle], `ClusterTrustBundle ${JSON.stringify(named)}`);
  }
  const parts = [
    [podCertificate?.certificateChainPath, "PodCertificate chain"],
    [podCertificate?.keyPath, "PodCertificate key"],
    [podCertificate?.credentialBundlePath, "PodCertificate credential bundle"],
  ] as const;
  return parts.flatMap(([path, source]) => (path ? [{ path, source }] : []));
}

function overlaps(places: readonly VolumePath[]): string[] {
  const pairs: string[] = [];
  const before: VolumePath[] = [];
  for (const { path: given, source } of places) {
    const place = { path: given.replace(/\/+$/, ""), source };
    if (pairs.length >= COMPARED_MAX) break;
    for (const other of before) if (overlap(place.path, other.path)) pairs.push(`${shown(place)} with ${shown(other)}`);
    if (before.length < COMPARED_MAX) before.push(place);
  }
  return pairs;
}

function overlap(one: string, other: string): boolean {
  if (one === "" || other === "") return false;
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
}

function shown({ path, source }: VolumePath): string {
  return source === "" ? JSON.stringify(path) : `${JSON.stringify(path)} (${source})`;
}
