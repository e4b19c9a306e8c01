/**
 * The restore mark, which a restore leaves in the cluster until it is through: a Lease that only a restore makes. It names the file, so that an
 * interrupted restore goes on with the same one, and nothing else is ever overwritten.
 */
import type { Lease } from "../../api/meta/kubernetes";

export const MARK = { namespace: "kube-system", name: "servicenet-restore" } as const;
const FILE_ANNOTATION = "servicenet.io/restored-file";

/** `sha256` of the file */
export function markFor(sha256: string): Lease {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...MARK, annotations: { [FILE_ANNOTATION]: sha256 } },
    spec: {},
  };
}

/** The sha256 of the file that is being restored here. */
export function markedFile({ metadata }: Lease): string | undefined {
  return metadata?.annotations?.[FILE_ANNOTATION];
}
