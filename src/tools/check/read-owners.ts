/** Reads what all owners of a cluster's addresses have written, some at a time; over RPC in the Worker and over HTTP in `npm run check`. */
import { inParallel } from "../../core/base/in-parallel";
import type { ObservedOwner, ObservedOwners, ObservedRow } from "./observed";

/** The body of `GET /check/owners`. */
export interface OwnersView {
  /** of the topology */
  epoch: number;
  claims: { prefix: string; ownerUid: string }[];
}

/** The body of `GET /check/owners/{uid}`. */
export interface OwnerPage {
  rows: ObservedRow[];
  /** how the owner's bitmap differs from these rows, and on the first page from all; "" = not at all */
  differs: string;
  /** the position behind which the next page begins; 0 = this was the last one */
  next: number;
}

export interface OwnersPort {
  view(): Promise<OwnersView>;
  page(uid: string, after: number): Promise<OwnerPage>;
}

const TOGETHER = 6;

/** An owner that cannot be read is named with the reason; the other owners are read. */
export async function readOwners(port: OwnersPort): Promise<ObservedOwners> {
  const { claims } = await port.view();
  const uids = [...new Set(claims.map(({ ownerUid }) => ownerUid))];
  const owners: ObservedOwner[] = [];
  const silent: { uid: string; reason: string }[] = [];
  await inParallel(uids, TOGETHER, async (uid) => {
    try {
      owners.push(await readOwner(port, uid));
    } catch (error) {
      silent.push({ uid, reason: error instanceof Error ? error.message : String(error) });
    }
  });
  return { claims, owners, silent };
}

async function readOwner(port: OwnersPort, uid: string): Promise<ObservedOwner> {
  const rows: ObservedRow[] = [];
  const differences: string[] = [];
  let after = 0;
  do {
    const page = await port.page(uid, after);
    rows.push(...page.rows);
    if (page.differs) differences.push(page.differs);
    after = page.next;
  } while (after !== 0);
  return { uid, rows, differs: differences.join("; ") };
}
