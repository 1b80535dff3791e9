@rem What "exec" in package.json means where the shell has no such word: run the program that follows.
@%*
