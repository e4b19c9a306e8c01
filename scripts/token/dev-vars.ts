/** What `npx wrangler dev` needs to be served as `npm start` is: an administrator in `.dev.vars`, and a folder with certificates and a kubeconfig. */
import { join } from "node:path";
import { parseToken } from "../../src/access/authentication/bearer-token";
import { type OwnFolder, takeFolder } from "../folders/own-folder";
import { kubeconfig } from "../serve/kubeconfig";
import { readIfThere, writePrivate } from "../serve/private-file";
import { secured } from "../serve/security";
import { UserError } from "../terminal/user-error";

const FOLDER = ".servicenet-dev";
const VARS = ".dev.vars";
const HOST = "127.0.0.1";
const URL_OF_DEV = `https://${HOST}:8787`;
const IMPLIED = /^[ \t]*(?:export[ \t]+)?IMPLICIT_DEFAULT_CLUSTER[ \t]*=/m;
const LINE = /^[ \t]*(?:export[ \t]+)?ADMIN_TOKEN_HASHES[ \t]*=(.*)$/m;

const DEV_FOLDER: OwnFolder = {
  what: "the folder",
  option: "another working folder",
  mark: ".servicenet-dev",
  text: "Certificates, the administrator's token and the kubeconfig for `npx wrangler dev` (npm run token -- dev-vars).\n",
  isOfEarlierRelease: () => false,
};

/** Makes both in this folder of the project; what is there stays. Answers what to type next. */
export async function makeDevVars(project: string): Promise<string> {
  const [folder, vars] = [join(project, FOLDER), join(project, VARS)];
  takeFolder(folder, DEV_FOLDER);
  const adminTokenPath = join(folder, "admin-token");
  const { server, client } = await secured({ path: folder, adminTokenPath }, HOST, []);
  addAdmin(vars, server.adminTokenHash, parseToken(client.token)?.id ?? "");
  writePrivate(join(folder, "kubeconfig"), kubeconfig(URL_OF_DEV, client));
  return [
    `${VARS} has an administrator, and ${FOLDER} his token, a kubeconfig and the certificates. Start and ask:`,
    `  npx wrangler dev --ip ${HOST} --local-protocol https --https-key-path ${FOLDER}/server.key --https-cert-path ${FOLDER}/server.crt`,
    `  kubectl --kubeconfig ${FOLDER}/kubeconfig get services`,
  ].join("\n");
}

/** Other variables of the file stay. */
function addAdmin(vars: string, hash: string, tokenId: string): void {
  const text = readIfThere(vars) ?? "";
  const known = LINE.exec(text)?.[1];
  if (known !== undefined && !known.includes(tokenId))
    throw new UserError(`${VARS} has other ADMIN_TOKEN_HASHES already; remove that line first`);
  const missing = [
    ...(IMPLIED.test(text) ? [] : ['IMPLICIT_DEFAULT_CLUSTER="true"\n']),
    ...(known === undefined ? [`ADMIN_TOKEN_HASHES="${hash}"\n`] : []),
  ];
  if (missing.length === 0) return;
  const before = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  writePrivate(vars, before + missing.join(""));
}
