/** Something that the user can put right. The message is the one line that the program prints. */
export class UserError extends Error {}
