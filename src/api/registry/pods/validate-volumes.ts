/** Validation of the volumes of a Pod: names, and that each has one source. Most sources are kept as they are. */
import { duplicate, type FieldError, forbiddenField, required } from "../../meta/field-errors";
import type { Volume } from "../../meta/kubernetes";
import { invalidValue } from "../../meta/field-errors";
import { validateDNS1123Label } from "../../meta/names";
import { compareQuantities } from "../../schema/quantity";

/** In upstream's order, each with the name that upstream's message has where that is another. */
const SOURCES: readonly (readonly [string, string?])[] = [
  ...([["emptyDir"], ["hostPath"], ["gitRepo"], ["gcePersistentDisk"], ["awsElasticBlockStore"], ["secret"], ["nfs"], ["iscsi"]] as const),
  ...([["glusterfs"], ["flocker"], ["persistentVolumeClaim"], ["rbd"], ["cinder"], ["cephfs", "cephFS"], ["quobyte"]] as const),
  ...([["downwardAPI", "downwarAPI"], ["fc"], ["flexVolume"], ["configMap"], ["azureFile"], ["vsphereVolume"]] as const),
  ...([["photonPersistentDisk"], ["portworxVolume"], ["azureDisk"], ["storageos"], ["projected"], ["scaleIO"], ["csi"]] as const),
  ...([["ephemeral"], ["image"]] as const),
];

/** Appends the errors of the volumes; returns the names of those that have none. */
export function validateVolumes(volumes: readonly Volume[] | undefined, field: string, errors: FieldError[]): Set<string> {
  const names = new Set<string>();
  (volumes ?? []).forEach((volume, i) => {
    const own: FieldError[] = [];
    const { name = "" } = volume;
    const at = `${field}[${i}]`;
    validateSource(volume, at, own);
    if (name === "") own.push(required(`${at}.name`));
    else for (const message of validateDNS1123Label(name)) own.push(invalidValue(`${at}.name`, name, message));
    if (names.has(name)) own.push(duplicate(`${at}.name`, name));
    if (own.length === 0) names.add(name);
    errors.push(...own);
  });
  return names;
}

function validateSource(volume: Volume, field: string, errors: FieldError[]): void {
  const members = volume as unknown as Record<string, unknown>;
  const given = SOURCES.filter(([name]) => members[name]);
  if (given.length === 0) errors.push(required(field, "must specify a volume type"));
  given.forEach(([name, shown = name], i) => {
    if (i > 0) errors.push(forbiddenField(`${field}.${shown}`, "may not specify more than 1 volume type"));
    else validateContent(volume, field, errors);
  });
}

function validateContent(
  { emptyDir, hostPath, secret, configMap, persistentVolumeClaim }: Volume,
  field: string,
  errors: FieldError[],
): void {
  if (emptyDir) {
    const problem = "SizeLimit field must be a valid resource quantity";
    if (compareQuantities(emptyDir.sizeLimit ?? "0", "0") < 0) errors.push(forbiddenField(`${field}.emptyDir.sizeLimit`, problem));
  } else if (hostPath) {
    if (!hostPath.path) errors.push(required(`${field}.hostPath.path`));
  } else if (secret) {
    if (!secret.secretName) errors.push(required(`${field}.secret.secretName`));
  } else if (persistentVolumeClaim) {
    if (!persistentVolumeClaim.claimName) errors.push(required(`${field}.persistentVolumeClaim.claimName`));
  } else if (configMap && !configMap.name) errors.push(required(`${field}.configMap.name`));
}
