package dev.kagzi.postgres;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** Another JVM that owns a server until it is killed. */
final class Owner implements AutoCloseable {

  private final Process process;
  private final String answer;

  private Owner(Process process, String answer) {
    this.process = process;
    this.answer = answer;
  }

  /** Starts a server on the folder in another JVM; returns when it runs or when it was refused. */
  static Owner start(Path dataDir, Path cacheDir) throws IOException {
    Process process = launch(dataDir, cacheDir);
    return new Owner(process, Objects.requireNonNull(process.inputReader().readLine()));
  }

  /** Does the same as {@link #start}, without waiting. */
  static Process launch(Path dataDir, Path cacheDir) throws IOException {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return new ProcessBuilder(
            List.of(
                java,
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Owner.class.getName(),
                dataDir.toString(),
                cacheDir.toString()))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }

  /** The output of the other JVM: {@code running <pid of PostgreSQL>}, or the refusal. */
  String answer() {
    return answer;
  }

  long postgresPid() {
    return Long.parseLong(answer.split(" ")[1]);
  }

  void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }

  public static void main(String[] args) throws IOException {
    try (EmbeddedPostgres postgres =
        EmbeddedPostgres.builder()
            .dataDir(Path.of(args[0]))
            .cacheDir(Path.of(args[1]))
            .durable(false)
            .start()) {
      System.out.println("running " + postgres.pid());
      // Runs until the parent closes the pipe or kills this JVM.
      int end = System.in.read();
      System.out.println("ended " + end);
    } catch (EmbeddedPostgresException e) {
      System.out.println("refused " + e.getMessage());
    }
  }
}
