/** What an installed package has in place of the sources. */
import { join } from "node:path";
import { root } from "../running/root.mjs";

/** Two folders below the package, as the sources' programs are: code in it finds the package's folder in the same way (../running/root.mjs). */
const FOLDER = join(root, "dist", "servicenet");

/** The Worker as one module. */
export const PACKAGED_WORKER = join(FOLDER, "worker.mjs");
/** The reader of kubeconfigs of the official client. */
export const PACKAGED_KUBECONFIG = join(FOLDER, "kubeconfig.mjs");
