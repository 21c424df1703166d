package dev.kagzi.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A schedule that fires every second, on a server that is killed and restarted a while later. */
class ScheduleCrashTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final Duration WHILE = Duration.ofSeconds(5);
  private static final int MORE = 3;

  @Test
  void every_second_has_one_run_although_the_server_was_down(@TempDir Path folder)
      throws Exception {
    Instant killed;
    try (DevProcess dev = DevProcess.start(folder)) {
      kagzi(
          dev,
          "schedule create --name ticks --workflow tick --queue ticks --input 1 --cron",
          "* * * * * *");
      passes(WHILE);

      dev.kill();
      dev.awaitExit();
      killed = Instant.now();
    }
    passes(WHILE);

    JsonNode paused;
    List<Instant> slots;
    try (DevProcess dev = DevProcess.start(folder)) {
      Instant back = Instant.now();
      Awaitility.await()
          .atMost(SOON)
          .pollInterval(Duration.ofMillis(500))
          .until(() -> slots(dev).getLast().isAfter(back.plusSeconds(MORE)));
      paused = kagzi(dev, "schedule pause ticks");
      slots = slots(dev);
    }

    assertThat(slots).isEqualTo(everySecond(slots.getFirst(), slots.getLast()));
    assertThat(slots.getFirst()).isBefore(killed.minusSeconds(3));
    assertThat(slots.getLast()).isAfter(killed.plus(WHILE));
    assertThat(paused.at("/totalRuns").asInt()).isEqualTo(slots.size());
    assertThat(paused.at("/missedRuns").asInt()).isZero();
  }

  private static void passes(Duration time) {
    Awaitility.await().pollDelay(time).until(() -> true);
  }

  private static List<Instant> everySecond(Instant first, Instant last) {
    List<Instant> all = new ArrayList<>();
    for (Instant slot = first; !slot.isAfter(last); slot = slot.plusSeconds(1)) {
      all.add(slot);
    }
    return all;
  }

  /** Returns the slots of all runs, from the list of runs. */
  private static List<Instant> slots(DevProcess dev) {
    List<Instant> slots = new ArrayList<>();
    for (JsonNode run : kagzi(dev, "workflow list --queue ticks --limit 1000").at("/workflows")) {
      slots.add(Instant.parse(run.at("/fireAt").asString()));
    }
    return slots.stream().sorted().toList();
  }

  /** Runs {@code kagzi WORDS LAST -o json} on that server. */
  private static JsonNode kagzi(DevProcess dev, String words, String... last) {
    List<String> args = new ArrayList<>(List.of(words.split(" ")));
    args.addAll(List.of(last));
    args.addAll(List.of("-o", "json", "--address", "127.0.0.1:" + dev.grpcPort()));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] all = args.toArray(String[]::new);
    int code =
        Main.commandLine(CommandTree.of(all))
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(all);
    assertThat(code).as(err.toString()).isZero();
    return JsonMapper.builder().build().readTree(out.toString());
  }
}
