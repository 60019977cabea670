"""A campaign that only carries trials: what the benchmarks measure."""

from nmfcheck.checking.campaign import Campaign


class PlainCampaign(Campaign):
    """A campaign without experiments."""

    def _experiment(self, *_: object, **__: object) -> None:
        pass
