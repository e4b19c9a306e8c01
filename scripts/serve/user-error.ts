/** Something the user can put right: its message is the one line that the program prints before it exits with 1. */
export class UserError extends Error {}
