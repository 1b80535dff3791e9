import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.security.Permission;

/** jarsigner for many JARs in one process: its arguments up to `--`, then the JARs. Of each: a line `=== CODE LENGTH`, and what it said. */
class VerifyAll {
    public static void main(String[] args) throws ReflectiveOperationException {
        int end = java.util.Arrays.asList(args).indexOf("--");
        PrintStream out = System.out;
        PrintStream err = System.err;
        System.setSecurityManager(new NoExit());
        for (int index = end + 1; index < args.length; index++) {
            String[] given = java.util.Arrays.copyOf(args, end + 1);
            given[end] = args[index];
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            PrintStream stream = new PrintStream(said, true);
            System.setOut(stream);
            System.setErr(stream);
            int code = run(given);
            System.setOut(out);
            System.setErr(err);
            out.println("=== " + code + " " + said.size());
            out.write(said.toByteArray(), 0, said.size());
        }
        out.flush();
    }

    private static int run(String[] args) throws ReflectiveOperationException {
        forget();
        try {
            new sun.security.tools.jarsigner.Main().run(args);
            return 0;
        } catch (Exit exit) {
            return exit.code;
        }
    }

    /** What jarsigner found in the JAR before: it keeps that in static fields. */
    private static void forget() throws ReflectiveOperationException {
        for (Field field : sun.security.tools.jarsigner.Main.class.getDeclaredFields()) {
            int modifiers = field.getModifiers();
            if (field.getType() != boolean.class || !Modifier.isStatic(modifiers) || Modifier.isFinal(modifiers)) continue;
            field.setAccessible(true);
            field.setBoolean(null, false);
        }
    }

    /** Instead of the end of the process; jarsigner catches no errors. */
    private static class Exit extends Error {
        final int code;

        Exit(int code) {
            this.code = code;
        }
    }

    private static class NoExit extends SecurityManager {
        @Override
        public void checkExit(int code) {
            throw new Exit(code);
        }

        @Override
        public void checkPermission(Permission permission) {
        }
    }
}
