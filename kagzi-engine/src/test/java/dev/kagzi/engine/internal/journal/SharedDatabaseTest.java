package dev.kagzi.engine.internal.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.thread.EssentialThreads;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A server that is not alone on its database commits the writes of all its lanes together. */
class SharedDatabaseTest {
  private static final int LANES = 2;
  private static final int KEYS = 40;
  private static final int WRITES = 6_000;

  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private final Recorder recorder = new Recorder();

  /** The threads that have terminated a backend. */
  private final Set<String> ending = ConcurrentHashMap.newKeySet();

  private static final class Numbered extends Write<Integer> {
    private final int key;
    private final int number;

    Numbered(int key, int number) {
      this.key = key;
      this.number = number;
    }

    @Override
    protected UUID key() {
      return new UUID(0, key);
    }

    @Override
    protected int bytes() {
      return 100;
    }

    int lane() {
      return Math.floorMod(key().hashCode(), LANES);
    }
  }

  /** Keeps the batches in the order of their commits. */
  private static final class Recorder implements BatchWriter<Numbered> {
    private final List<List<Numbered>> batches = new CopyOnWriteArrayList<>();
    private final AtomicInteger commits = new AtomicInteger();
    private volatile boolean losesMixed;
    private volatile String lostBy = "";

    @Override
    public Effects write(Session tx, List<Numbered> batch) throws SQLException {
      if (losesMixed && isMixed(batch)) {
        lostBy = Thread.currentThread().getName();
        throw new SQLException("connection lost", "08006");
      }
      sleep();
      batch.forEach(write -> write.answer(write.number));
      return () -> batches.add(List.copyOf(batch));
    }

    /** Some commits take longer than a lane waits for its turn. */
    private void sleep() {
      try {
        TimeUnit.MILLISECONDS.sleep(commits.incrementAndGet() % 10 == 0 ? 80 : 1);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public @Nullable Effects writeAlone(Session session, List<Numbered> batch) {
      return null;
    }

    /** How many batches have writes of several lanes. */
    long mixed() {
      return batches.stream().filter(Recorder::isMixed).count();
    }

    private static boolean isMixed(List<Numbered> batch) {
      return batch.stream().map(Numbered::lane).distinct().count() > 1;
    }
  }

  private Journal<Numbered> open(Database side, Duration databasePatience) {
    JournalConfig config =
        new JournalConfig(LANES, 64 << 20, 8 << 20, 2_000, Duration.ofSeconds(5), databasePatience);
    return new Journal<>(
        side, () -> recorder, config, Meters.unpublished().journal("test"), new EssentialThreads());
  }

  @Test
  void a_lone_server_commits_its_lanes_one_by_one() throws Exception {
    try (Database side = Database.open(database.config());
        Journal<Numbered> journal = open(side, Duration.ofSeconds(10))) {
      appendAll(journal, 1);
    }

    assertThat(recorder.mixed()).isZero();
    assertOrder();
  }

  @Test
  void writes_of_all_lanes_share_batches_with_other_servers_on_the_database() throws Exception {
    try (Database side = Database.open(database.config());
        Journal<Numbered> journal = open(side, Duration.ofSeconds(10))) {
      appendAll(journal, 3);
    }

    assertThat(recorder.mixed()).isPositive();
    assertOrder();
  }

  @Test
  void writes_with_equal_keys_keep_their_order_while_servers_come_and_go() throws Exception {
    try (Database side = Database.open(database.config());
        Journal<Numbered> journal = open(side, Duration.ofSeconds(10))) {
      appendAll(journal, 1, 2, 3);
    }

    assertThat(recorder.mixed()).isPositive();
    assertOrder();
  }

  /** The number of servers changes after each tenth write. */
  private static void appendAll(Journal<Numbered> journal, int... servers) throws Exception {
    List<Numbered> writes = new ArrayList<>();
    for (int i = 0; i < WRITES; i++) {
      if (i % 10 == 0) {
        journal.setServers(servers[i / 10 % servers.length]);
        TimeUnit.MICROSECONDS.sleep(200);
      }
      Numbered write = new Numbered(i % KEYS, i);
      writes.add(write);
      journal.append(write);
    }
    for (Numbered write : writes) {
      assertThat(write.done().get(20, TimeUnit.SECONDS)).isEqualTo(write.number);
    }
  }

  private void assertOrder() {
    Map<Integer, Integer> last = new HashMap<>();
    Set<Integer> numbers = new HashSet<>();
    for (List<Numbered> batch : recorder.batches) {
      for (Numbered write : batch) {
        assertThat(last.getOrDefault(write.key, -1)).isLessThan(write.number);
        last.put(write.key, write.number);
        numbers.add(write.number);
      }
    }
    assertThat(numbers).hasSize(WRITES);
  }

  /** Its backend may still commit the write of the other lane, which is then sent again. */
  @Test
  void a_lane_ends_the_backend_of_another_that_gave_up_its_writes() throws Exception {
    int[] keys = {keyOfLane(0), keyOfLane(1)};
    try (Database side = Database.open(database.config(), this::connect);
        Journal<Numbered> journal = open(side, Duration.ofMillis(1))) {
      journal.setServers(2);
      for (int key : keys) {
        assertThat(append(journal, key).done()).succeedsWithin(Duration.ofSeconds(20));
      }

      recorder.losesMixed = true;
      while (recorder.lostBy.isEmpty()) {
        List<Numbered> both = List.of(new Numbered(keys[0], 1), new Numbered(keys[1], 1));
        journal.append(both);
        for (Numbered write : both) {
          write.done().handle((number, refusal) -> "").get(20, TimeUnit.SECONDS);
        }
      }
      int other = recorder.lostBy.equals("kagzi-lane-0") ? 1 : 0;
      assertThat(ending).doesNotContain("kagzi-lane-" + other);

      assertThat(append(journal, keys[other]).done()).succeedsWithin(Duration.ofSeconds(20));

      assertThat(ending).contains("kagzi-lane-" + other);
    }
  }

  private static Numbered append(Journal<Numbered> journal, int key) {
    Numbered write = new Numbered(key, 0);
    journal.append(write);
    return write;
  }

  private Connection connect() throws SQLException {
    Connection real = Database.connect(database.config());
    return (Connection)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (arguments != null && arguments[0] instanceof String sql) {
                if (sql.contains("pg_terminate_backend")) {
                  ending.add(Thread.currentThread().getName());
                }
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static int keyOfLane(int lane) {
    int key = 0;
    while (new Numbered(key, 0).lane() != lane) {
      key++;
    }
    return key;
  }
}
