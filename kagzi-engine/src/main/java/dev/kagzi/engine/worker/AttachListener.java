package dev.kagzi.engine.worker;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import java.util.List;

/** The far end of an attached stream. Called on engine threads: quick, without blocking. */
public interface AttachListener {
  /** The worker is attached. */
  void attached();

  /** The worker should stop executing these. */
  void stop(List<Claim> claims, RunStatus status);

  /** Something has come that these may wait for. */
  void wake(List<Claim> claims);

  /** The worker should take no more work. */
  void drain();

  /** The stream is over, for this reason. */
  void closed(Refusal why);
}
