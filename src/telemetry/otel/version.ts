/** The version of this package, as spans and metrics name it: a bundle has no package.json to read it from. */
export const VERSION = '0.1.0';
