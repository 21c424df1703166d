package dev.kagzi.engine.worker;

import dev.kagzi.engine.value.Claim;
import dev.kagzi.engine.value.Refusal;
import dev.kagzi.engine.value.RunStatus;
import java.util.List;

/** Receives the events of an attached stream. Engine threads call it, so it must not block. */
public interface AttachListener {
  void attached();

  /** The worker should stop executing these claims. */
  void stop(List<Claim> claims, RunStatus status);

  /** Something arrived that the runs of these claims may wait for. */
  void wake(List<Claim> claims);

  /** The worker should accept no new tasks. */
  void drain();

  /** The stream was closed for this reason. */
  void closed(Refusal why);
}
