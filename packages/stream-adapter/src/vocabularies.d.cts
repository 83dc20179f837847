// scripts/build.mjs writes the file that this declares.
declare const packed: string;
export = packed;
