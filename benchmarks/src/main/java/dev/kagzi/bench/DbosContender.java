package dev.kagzi.bench;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * DBOS Transact Java, called directly, with 16 connections. Application and engine are one child
 * process, so that each system has its own libraries. Its program is in {@code benchmarks/dbos} and
 * is built on demand.
 */
final class DbosContender implements Contender {
  private static final String MAIN = "dev.kagzi.bench.dbos.DbosMain";

  private final BenchDatabase database;
  private final ChildProcess program;

  private DbosContender(BenchDatabase database, ChildProcess program) {
    this.database = database;
    this.program = program;
  }

  static DbosContender start(BenchDatabase database, Progress progress) {
    progress.print("building the program for dbos");
    ChildProcess program =
        ChildProcess.start("the program for dbos", build(), MAIN, database.environment());
    try {
      program.read();
      return new DbosContender(database, program);
    } catch (RuntimeException e) {
      program.close();
      throw e;
    }
  }

  private static String build() {
    Path module = Path.of(System.getProperty("kagzi.root", ""), "benchmarks", "dbos");
    if (!Files.isReadable(module.resolve("pom.xml"))) {
      throw new BenchException(
          "no program for dbos in " + module + " (expected: a start by ./kagzi bench)");
    }
    List<String> maven =
        List.of(
            "mvn",
            "-q",
            "-B",
            "-ntp",
            "-Pquick",
            "compile",
            "dependency:copy-dependencies",
            "-DincludeScope=runtime");
    ProcessBuilder builder =
        new ProcessBuilder(maven)
            .directory(module.toFile())
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    try {
      Process process = builder.start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (process.waitFor() != 0) {
        throw new BenchException("the build of the program for dbos failed:\n" + output);
      }
    } catch (IOException e) {
      throw new BenchException("cannot build the program for dbos: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new BenchException("interrupted", e);
    }
    Path target = module.resolve("target").resolve("quick");
    return target.resolve("classes") + File.pathSeparator + target.resolve("dependency") + "/*";
  }

  @Override
  public String name() {
    return "dbos";
  }

  @Override
  public Outcome run(Scenario scenario, Load load) {
    String answer =
        program.ask(
            "%d %d %d %d %d"
                .formatted(
                    scenario.steps(),
                    scenario == Scenario.SLEEP ? Scenario.SLEEP_MS : 0,
                    load.inFlight(),
                    load.runsMax(),
                    load.timeMax().toMillis()));
    String[] fields = answer.split(" ");
    return new Outcome(
        Integer.parseInt(fields[0]),
        Double.parseDouble(fields[1]),
        Double.parseDouble(fields[2]),
        Double.parseDouble(fields[3]),
        Double.parseDouble(fields[4]),
        Double.parseDouble(fields[5]));
  }

  /** Executes this many transactional steps, one at a time; returns the median and p99 in ms. */
  double[] transactionalSteps(int count) {
    String[] fields = program.ask("transactions " + count).split(" ");
    return new double[] {Double.parseDouble(fields[0]), Double.parseDouble(fields[1])};
  }

  @Override
  public Counters counters() {
    return Counters.NONE;
  }

  @Override
  public List<Long> serverPids() {
    return List.of();
  }

  @Override
  public long clientPid() {
    return program.pid();
  }

  @Override
  public BenchDatabase database() {
    return database;
  }

  @Override
  public void close() {
    program.close();
  }
}
