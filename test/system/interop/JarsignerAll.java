import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.security.Permission;
import java.util.Arrays;

/** jarsigner many times in one process: its arguments each time, with `--` behind them. Of each: a line `=== CODE LENGTH`, and what it said. */
class JarsignerAll {
    public static void main(String[] args) throws ReflectiveOperationException {
        PrintStream out = System.out;
        PrintStream err = System.err;
        System.setSecurityManager(new NoExit());
        int start = 0;
        for (int end = 0; end < args.length; end++) {
            if (!args[end].equals("--")) continue;
            String[] given = Arrays.copyOfRange(args, start, end);
            start = end + 1;
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
