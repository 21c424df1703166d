package dev.kagzi.engine;

import dev.kagzi.engine.value.WorkerId;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Base class for tests of runs with children or messages: an engine whose statements can be held
 * and whose coordinator interval is short, and a worker on a queue with the test's name.
 */
public abstract class FamilyTest {
  @RegisterExtension protected static final TestDatabase database = new TestDatabase();

  /** The statement that locks the runs of a batch. */
  protected static final String LOCK = "status, epoch, ended_epoch, locked_by";

  protected final Stored stored = new Stored(database);
  protected Holds holds;
  protected TestEngine engine;
  protected WorkerId worker;
  protected String queue;

  @BeforeEach
  void open(TestInfo test) {
    queue = test.getTestMethod().orElseThrow().getName();
    holds = new Holds(database.config());
    engine = start(holds);
    worker = engine.register();
  }

  /** Starts an engine on the same database and queue; the caller closes it. */
  protected TestEngine start(Holds connections) {
    EngineConfig config = EngineConfig.defaults().withCoordinatorInterval(Duration.ofMillis(100));
    return TestEngine.start(database.config(), queue, config, connections);
  }

  @AfterEach
  void close() {
    engine.close();
  }
}
