/**
 * The restore mark: a Lease that only a restore makes, and deletes at its end. It names the file. So an interrupted restore continues with the
 * same file, and nothing else is ever overwritten.
 */
import type { Lease } from "../../api/meta/kubernetes";
import { ownAnnotation, readOwn, writtenOwn } from "../../api/meta/own-annotation";

export const MARK = { namespace: "kube-system", name: "servicenet-restore" } as const;
const FILE_ANNOTATION = ownAnnotation("restored-file");

/** `sha256` of the file */
export function markFor(sha256: string): Lease {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...MARK, annotations: writtenOwn(FILE_ANNOTATION, sha256) },
    spec: {},
  };
}

/** The sha256 of the file that is being restored here. */
export function markedFile({ metadata }: Lease): string | undefined {
  return readOwn(metadata?.annotations, FILE_ANNOTATION);
}
