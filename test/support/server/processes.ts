/** The processes of a started server. */
import { childrenOf, type ProcessRow, rowOf } from "../../../scripts/serve/processes";

/** A process with all that it has started, itself first. */
export function familyOf(pid: number): ProcessRow[] {
  const self = rowOf(pid);
  return self ? [self, ...childrenOf(pid).flatMap((child) => familyOf(child.pid))] : [];
}
