package dev.kagzi.engine.internal.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kagzi.engine.TestDatabase;
import dev.kagzi.engine.config.JournalConfig;
import dev.kagzi.engine.internal.db.Database;
import dev.kagzi.engine.internal.db.Session;
import dev.kagzi.engine.metrics.Meters;
import dev.kagzi.engine.thread.EssentialThreads;
import dev.kagzi.engine.value.Refusal;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What becomes of a lane's batch when the lane ends. */
class LaneTest {
  @RegisterExtension static final TestDatabase database = new TestDatabase();

  private static final class OneWrite extends Write<Integer> {
    @Override
    protected UUID key() {
      return new UUID(0, 0);
    }

    @Override
    protected int bytes() {
      return 100;
    }
  }

  /** Loses its connection at every batch. */
  private static final class LostConnections implements BatchWriter<OneWrite> {
    private final CountDownLatch lost = new CountDownLatch(3);

    @Override
    public Effects write(Session tx, List<OneWrite> batch) throws SQLException {
      lost.countDown();
      throw new SQLException("connection lost", "08006");
    }

    @Override
    public @Nullable Effects writeAlone(Session session, List<OneWrite> batch) {
      return null;
    }
  }

  @Test
  void a_lane_that_is_closed_while_it_waits_to_reconnect_refuses_its_batch() throws Exception {
    JournalConfig patient =
        new JournalConfig(1, 64 << 20, 8 << 20, 2_000, Duration.ofSeconds(5), Duration.ofHours(1));
    LostConnections writer = new LostConnections();
    OneWrite write = new OneWrite();
    OneWrite behind = new OneWrite();
    try (Database side = Database.open(database.config());
        Journal<OneWrite> journal =
            new Journal<>(
                side,
                () -> writer,
                patient,
                () -> 1,
                Meters.unpublished().journal("test"),
                new EssentialThreads())) {
      journal.append(write);
      assertThat(writer.lost.await(20, TimeUnit.SECONDS)).isTrue();
      journal.append(behind);
    }

    assertThat(List.of(write, behind))
        .allSatisfy(
            each ->
                assertThat(each.done().exceptionNow())
                    .isInstanceOfSatisfying(
                        Refusal.class,
                        refusal ->
                            assertThat(refusal.reason()).isEqualTo(Refusal.Reason.UNAVAILABLE)));
  }
}
