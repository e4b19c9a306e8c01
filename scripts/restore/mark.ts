/** The mark of an unfinished restore, in the target cluster. */
import { MARK, markedFile, markFor } from "../../src/tools/backup/mark";
import type { Lease } from "../../src/api/meta/kubernetes";
import type { Api } from "../cluster/api";
import { UserError } from "../terminal/user-error";

const COLLECTION = `/apis/coordination.k8s.io/v1/namespaces/${MARK.namespace}/leases`;
const PATH = `${COLLECTION}/${MARK.name}`;

/** The sha256 of the file that is being restored into the cluster; undefined = none is. */
export async function fileUnderWay(api: Api): Promise<string | undefined> {
  const { code, object, message } = await api.get(PATH);
  if (code === 404) return undefined;
  if (code !== 200) throw new UserError(`${api.url}${PATH} answers ${code}: ${message}`);
  return markedFile(object as Lease) ?? "";
}

/** Marks the cluster as the target of the file with this sha256. Throws UserError when the mark is refused. */
export async function mark(api: Api, sha256: string): Promise<void> {
  const { code, message } = await api.create(COLLECTION, markFor(sha256));
  if (code === 409 && (await fileUnderWay(api)) === sha256) return;
  if (code >= 300) throw new UserError(`the restore cannot be marked as under way: ${message}`);
}

/** The restore is complete. */
export async function unmark(api: Api): Promise<void> {
  await api.delete(PATH);
}
