/** The only part of undici that is used. It has a file of its own because it is loaded with the first request. */

export { Agent } from 'undici';
