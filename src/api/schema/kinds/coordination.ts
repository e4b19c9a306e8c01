/**
 * coordination.k8s.io/v1 Lease (k8s.io/api coordination/v1, v0.36).
 */
import { ObjectMeta } from "../meta";
import { int32, kind, message, microTime, plain, pointer, ref, string } from "../dsl";
import type { MessageSchema } from "../types";

const LeaseSpec: MessageSchema = message(
  "io.k8s.api.coordination.v1.LeaseSpec",
  {
    holderIdentity: pointer(1, string, "Who holds the lease."),
    leaseDurationSeconds: pointer(2, int32, "Seconds after renewTime for which others must leave the lease to its holder."),
    acquireTime: pointer(3, microTime, "When the present holder got the lease."),
    renewTime: pointer(4, microTime, "When the holder last renewed the lease."),
    leaseTransitions: pointer(5, int32, "How often the lease has changed hands."),
    strategy: pointer(6, string, "How the leader is chosen in coordinated leader election."),
    preferredHolder: pointer(7, string, "Who should take the lease over; the present holder is to give it up. Needs strategy."),
  },
  { description: "Holder and times of a lease." },
);

export const LeaseSchema: MessageSchema = kind("io.k8s.api.coordination.v1.Lease", "A claim that its holder keeps alive by renewing it.", {
  metadata: plain(1, ref(ObjectMeta), "Name, labels, annotations and the other standard metadata of the object."),
  spec: plain(2, ref(LeaseSpec), "Holder and times of the lease."),
});
