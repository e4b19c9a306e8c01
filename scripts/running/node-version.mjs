/** Ends the process where Node is too old. In words that old versions know. */
const WANTED = [20, 19];

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < WANTED[0] || (major === WANTED[0] && minor < WANTED[1])) {
  console.error(`Servicenet needs Node ${WANTED.join(".")} or newer; this is ${process.version}.`);
  process.exit(1);
}
