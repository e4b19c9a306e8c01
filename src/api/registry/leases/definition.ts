import type { Lease } from "../../meta/kubernetes";
import { LeaseSchema } from "../../schema/kinds/coordination";
import { AGE_COLUMN, NAME_COLUMN, ageOf, column, nameOf } from "../common-columns";
import { COMMON } from "../common-definition";
import { defineResource } from "../resource";
import { leaseStrategy } from "./strategy";

export const leasesDefinition = defineResource<Lease>({
  ...COMMON,
  group: "coordination.k8s.io",
  versions: ["v1"],
  resource: "leases",
  singular: "lease",
  kind: "Lease",
  schema: LeaseSchema,
  columns: [NAME_COLUMN, column("Holder", "Who holds the lease, empty when nobody does."), AGE_COLUMN],
  cells: (lease, now) => [nameOf(lease), lease.spec?.holderIdentity ?? "", ageOf(lease, now)],
  strategy: leaseStrategy,
  allowCreateOnUpdate: true,
  // a renewal without a resourceVersion could overwrite another holder's
  allowUnconditionalUpdate: false,
  renewed: true,
});
