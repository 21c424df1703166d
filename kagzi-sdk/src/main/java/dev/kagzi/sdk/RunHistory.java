package dev.kagzi.sdk;

import dev.kagzi.sdk.internal.history.HistoryFile;
import dev.kagzi.sdk.internal.wire.ProtoMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A run as it is recorded, with every attempt of its steps: {@link RunHandle#history}. Written to a
 * file, it can be {@linkplain Replayer replayed} against later code; {@code kagzi workflow export}
 * writes the same. Payloads are in it as the codec made them, encrypted ones as they are.
 */
public final class RunHistory {
  private final HistoryFile file;

  RunHistory(HistoryFile file) {
    this.file = file;
  }

  /** The run itself. */
  public RunInfo run() {
    return ProtoMapper.runInfo(file.run(), Encoded.outputOf(file.run(), JacksonCodec.DEFAULT));
  }

  /** Every attempt of every step, in the order in which they were recorded. */
  public List<StepInfo> steps() {
    return file.steps().stream().map(ProtoMapper::stepInfo).toList();
  }

  /** As a JSON document, which {@link #parse} reads; docs/testing.md describes it. */
  public String toJson() {
    return file.json();
  }

  /** Writes the document into a file, over whatever is there. */
  public void write(Path path) {
    try {
      Files.writeString(path, toJson() + "\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads what {@link #toJson} wrote.
   *
   * @throws InvalidArgumentException with code HISTORY_UNREADABLE if it is something else, or of a
   *     format that this version does not know
   */
  public static RunHistory parse(String json) {
    return new RunHistory(HistoryFile.parse(json));
  }

  /** Reads what {@link #write} or {@code kagzi workflow export} wrote. */
  public static RunHistory read(Path path) {
    try {
      return parse(Files.readString(path));
    } catch (InvalidArgumentException e) {
      throw new InvalidArgumentException(e.code(), path + ": " + e.getMessage());
    } catch (IOException e) {
      throw new UncheckedIOException("history: " + path + " cannot be read", e);
    }
  }

  HistoryFile file() {
    return file;
  }

  @Override
  public String toString() {
    return "history of " + file.run().getWorkflowType() + " " + file.run().getRunId();
  }
}
