"""Publishers of a robot: one for each row of the table of streams whose condition the robot fulfils."""

from dataclasses import replace
from typing import Any

import numpy as np
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from grouser.nodes.shared import messages, topics
from grouser.nodes.shared.endpoints import Endpoints
from grouser.nodes.simulator.message_makers import MAKERS, message_type
from grouser.nodes.simulator.parameters import SimulatorParameters
from grouser.runtime.drawn_links import display_description
from grouser.runtime.sampling import Sample
from grouser.runtime.schedule import steps_between
from grouser.runtime.streams import STREAMS, Rate, Stream, StreamSource


class StatePublisher:
    """Publishes samples of a robot.

    Args:
        endpoints: the robot's.
        source: the robot, and the names of frames.
        parameters: rates of the streams.

    Attributes:
        rates: topic of each published stream -> rate of its samples [Hz].
    """

    def __init__(self, endpoints: Endpoints, source: StreamSource, parameters: SimulatorParameters) -> None:
        self._source = source
        self._outputs: dict[str, _Output] = {}
        for stream in STREAMS.values():
            if stream.sample is None or stream.rate is None or not stream.given.holds(source.machine, source.world):
                continue
            kind = message_type(stream.type)
            if kind is not None:
                self._outputs[stream.topic] = _Output(endpoints, stream, stream.rate, source, kind)
        self._static_publisher = endpoints.create_publisher(TFMessage, topics.TF_STATIC, topics.LATCHED)
        self._description_publisher = endpoints.create_publisher(String, topics.ROBOT_DESCRIPTION, topics.LATCHED)
        self._display_publisher = (
            endpoints.create_publisher(String, topics.DISPLAY_DESCRIPTION, topics.LATCHED)
            if STREAMS[topics.DISPLAY_DESCRIPTION].given.holds(source.machine, source.world)
            else None
        )
        self._apply_rates(parameters)

    def change(self, parameters: SimulatorParameters, publish_map_tf: bool) -> None:
        """Applies changed parameters."""
        self._apply_rates(parameters)
        if publish_map_tf != self._source.publish_map_tf:
            self._source = replace(self._source, publish_map_tf=publish_map_tf)
            self._outputs[topics.TF].remake(self._source)

    def _apply_rates(self, parameters: SimulatorParameters) -> None:
        self.rates = {topic: parameters.rates[output.rate.parameter] for topic, output in self._outputs.items()}
        for topic, output in self._outputs.items():
            output.interval = steps_between(self.rates[topic], parameters.step) * parameters.step

    def publish_description(self, urdf: str) -> None:
        """Publishes the machine's URDF, that for displays and the static transforms, all latched."""
        self._description_publisher.publish(String(data=urdf))
        if self._display_publisher is not None:
            self._display_publisher.publish(String(data=display_description(self._source.machine)))
        frames = self._source.frames
        pairs, poses = frames.still, frames.still_poses
        if self._source.publish_link_tf:
            pairs, poses = [*frames.fixed, *pairs], np.vstack([frames.fixed_poses, poses])
        if pairs:
            message = messages.make_transforms(pairs)
            messages.fill_transforms(message, 0, poses)
            self._static_publisher.publish(message)

    def publish(self, sample: Sample) -> None:
        """Publishes one sample."""
        for topic, value in sample.values.items():
            if value is not None:
                self._outputs[topic].publish(sample.nanoseconds, value)


class _Output:
    """The publishers of one stream.

    Attributes:
        rate: of its samples.
        interval: between two samples [s].
    """

    def __init__(self, endpoints: Endpoints, stream: Stream, rate: Rate, source: StreamSource, kind: type) -> None:
        self.rate = rate
        self.interval = 0.0
        self._stream = stream
        names = {"": stream.topic} if stream.items is None else stream.topics(stream.items(source))
        quality = topics.profile(stream.quality)
        self._publishers = {item: endpoints.create_publisher(kind, topic, quality) for item, topic in names.items()}
        self.remake(source)

    def remake(self, source: StreamSource) -> None:
        """Makes messages of a changed source from now on."""
        make = MAKERS[self._stream.type]
        self._makers = [(make(self._stream, source, item), one) for item, one in self._publishers.items()]

    def publish(self, nanoseconds: int, value: Any) -> None:
        values = (value,) if self._stream.items is None else value
        for (make, publisher), one in zip(self._makers, values, strict=True):
            if self._stream.on_demand and publisher.get_subscription_count() == 0:
                continue
            message = make(nanoseconds, one, self.interval)
            if message is not None:
                publisher.publish(message)
